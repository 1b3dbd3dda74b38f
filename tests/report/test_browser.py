"""The page opens offline in a real browser and fills the screen as it should."""

import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

from dpspectra.report import write

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]


def browse(page, tmp_path, *arguments):
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *arguments, page.as_uri()]
    return subprocess.run(command, capture_output=True, check=True, timeout=120, cwd=tmp_path)


@pytest.fixture(scope="module")
def page(unprivate, tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser") / "report"
    write(unprivate, folder)
    return folder / "report.html"


def test_screenshot_shows_banner_and_pictures(page, tmp_path):
    target = tmp_path / "page.png"
    browse(page, tmp_path, "--window-size=1200,2400", f"--screenshot={target}")
    shot = np.asarray(Image.open(target).convert("RGB")).astype(int)
    assert shot.shape[:2] == (2400, 1200)
    warning = np.abs(shot - [0xB3, 0x47, 0x00]).max(axis=2) < 24
    assert warning[:300].sum() > 2000  # the banner's frame and letters, at the very top
    bars = np.abs(shot - [0x00, 0x72, 0xB2]).max(axis=2) < 24
    assert bars[500:].sum() > 5000  # the scree plot's bars


def test_every_picture_decodes(page, tmp_path):
    # A script of the test, in a copy: the page's own policy forbids scripts, so it is taken out there.
    text = page.read_text()
    start = text.index('<meta http-equiv="Content-Security-Policy"')
    end = text.index("\n", start)
    script = (
        "<script>onload = () => document.title = [...document.images]"
        ".map(image => image.naturalWidth > 100 ? 'ok' : 'broken').join(' ')</script>"
    )
    copy = tmp_path / "copy.html"
    copy.write_text(text[:start] + script + text[end:])
    dom = browse(copy, tmp_path, "--dump-dom").stdout.decode()
    title = dom.split("<title>")[1].split("</title>")[0]
    assert title == "ok ok ok ok"
