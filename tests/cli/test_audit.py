"""``audit``: claims, bounds and exit codes. False-alarm rate of each audit: 1e-9, registered."""

import pytest

from dpspectra.testing import audit as auditing
from dpspectra.testing.subject import cases


def test_it_shows_claim_bound_and_smallest_fault(cli) -> None:
    done = cli("audit", "huber_mean", "--runs", "200")
    assert done.code == 0
    blocks = done.stdout.split("huber_mean-")[1:]
    assert len(blocks) == sum(case.mechanism.name == "huber_mean" for case in cases())
    for block in blocks:
        for text in ("worst pair: ", "200 runs a side", "claimed", "at least", "(exact)", "seen", "passed"):
            assert text in block


def test_a_failed_audit_has_an_exit_code_of_its_own(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    step = auditing.Choice("q", 0.1, 0.09)
    failed = auditing.Audit("pair", 100, 1e-9, 0.01, 0.5, 0.6, (step,), 1, 0.5, 0.9)
    monkeypatch.setattr(auditing, "audit", lambda *_, **__: failed)
    done = cli("audit", "gaussian_moments", "--runs", "100")
    assert done.code == 70
    assert "step q: claimed epsilon 0.1000, attained 0.0900" in done.stdout
    assert "FAILED" in done.stdout
    assert "exceeds its claim" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["no_such_thing"], "is not one of"),
        (["gaussian_moments", "--runs", "5"], "--runs"),
        (["gaussian_moments", "--epsilon", "-1"], "epsilon"),
    ],
)
def test_what_cannot_be_audited_is_refused(cli, arguments: list[str], text: str) -> None:
    done = cli("audit", *arguments)
    assert done.code == 2
    assert text in done.stderr
