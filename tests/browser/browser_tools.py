"""What browser tests look at: sizes, drawn figures, accessibility, width."""

from __future__ import annotations

WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}


def drawn(page) -> None:
    """Wait until every figure of the page is drawn."""
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-figure]')].every((one) => one.classList.contains('drawn'))"
    )


def assert_accessible(page) -> None:
    """No violation of WCAG 2.2 A and AA, nor of axe's good practice, on the page as it stands."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    said = [f"{rule['id']}: {rule['help']} at {[node['target'] for node in rule['nodes'][:4]]}" for rule in found]
    assert not found, "\n".join(said)


def assert_no_sideways_scroll(page) -> None:
    """Wide content scrolls in its own container, never the page."""
    wide, window = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide <= window, f"the page is {wide} px wide in a window of {window} px"
