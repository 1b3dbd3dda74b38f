"""The page: one file, no network, accessible, the guarantee first, and loud if it is not private."""

import re
from html.parser import HTMLParser

import pytest

from dpspectra.report import render, summarise
from dpspectra.report.pictures import pictures

VOID = {"meta", "img", "br", "col", "link", "input", "hr"}


class Page(HTMLParser):
    """Collects tags and texts, and fails on tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self._open = [], [], []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if data.strip() and self._open[-1] != "style":
            self.texts.append(" ".join(data.split()))


def page(model):
    return render(summarise(model), pictures(model), ("release.json", "report.html"))


@pytest.fixture(scope="module")
def pca_page(pca):
    return page(pca)


@pytest.fixture(scope="module")
def covariance_page(covariance):
    return page(covariance)


@pytest.fixture(scope="module")
def unprivate_page(unprivate):
    return page(unprivate)


def test_nothing_comes_from_elsewhere(pca_page, covariance_page):
    for text in (pca_page, covariance_page):
        assert not re.search(r"https?:|//[a-z]|@import|url\(", text)
        for tag, attributes in Page(text).tags:
            assert tag not in {"script", "link", "iframe", "object", "embed"}
            assert "href" not in attributes and not any(name.startswith("on") for name in attributes)
            assert attributes.get("src", "data:").startswith("data:image/svg+xml;base64,") or tag != "img"


def test_the_guarantee_is_the_first_sentence_and_the_headline_the_second(pca, pca_page):
    texts = Page(pca_page).texts
    body = texts[1:]  # after the title
    assert body[0] == pca.privacy_.sentence()
    assert body[1] == f"{pca.n_resolved_} of 6 components stand out of the noise"


def test_sections_in_order(pca_page):
    found = re.findall(r'<h2 id="(\w+)"', pca_page)
    assert found == ["meaning", "pictures", "tables", "card", "limits"]


def test_pictures_have_texts_that_say_the_same(pca_page, covariance_page):
    for text, count in ((pca_page, 4), (covariance_page, 2)):
        images = [attributes for tag, attributes in Page(text).tags if tag == "img"]
        assert len(images) == count
        assert all(len(image["alt"]) > 30 for image in images)


def test_tables_have_captions_and_headers(pca_page):
    tags = Page(pca_page).tags
    count = sum(tag == "table" for tag, _ in tags)
    assert count == sum(tag == "caption" for tag, _ in tags) >= 6
    assert all(attributes.get("scope") in {"row", "col"} for tag, attributes in tags if tag == "th")


def test_names_are_escaped(pca_page):
    assert "a&lt;b &amp; &#34;c&#34;" in pca_page
    assert "a<b" not in pca_page


def test_loud_if_not_private(unprivate_page, pca_page):
    texts = Page(unprivate_page).texts
    assert texts[0].startswith("NOT PRIVATE") and texts[1].startswith("NOT PRIVATE (test noise).")
    assert '<meta name="dpspectra:private" content="false">' in unprivate_page
    assert "NOT PRIVATE" not in pca_page
    assert '<meta name="dpspectra:private" content="true">' in pca_page


def test_covariance_page_has_no_components(covariance_page):
    assert "Largest weights" not in covariance_page and "Alignment" not in covariance_page
    assert "<h3>Eigenvalues and explained variance</h3>" in covariance_page
    assert "±" in covariance_page


def test_one_component_leaves_out_the_pairs(make, monkeypatch):
    monkeypatch.setattr("dpspectra.report.pictures.encode", lambda *_: b"")
    model = make(n_components=1, private=False)
    assert [picture.name for picture in pictures(model)] == ["scree", "correlation_heatmap"]


def test_no_unrounded_zero_with_a_sign(pca_page):
    assert not re.search(r">−0\.0+<", pca_page)
