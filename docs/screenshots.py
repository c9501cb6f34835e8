"""``python docs/screenshots.py`` takes the pictures of the report page that the README shows. It needs Chromium."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent


def main() -> None:
    """Make the page of the bundled flights and photograph two parts of it."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        subprocess.run(["hebnb", "report", "-o", str(path)], check=True)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1040, "height": 780}, color_scheme="light")
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        for name, first, last in (("report", "header", "#methods"), ("explorer", "#explorer", "#explorer")):
            top, bottom = (page.locator(part).bounding_box() for part in (first, last))
            assert top is not None
            assert bottom is not None
            clip = {"x": 0, "y": top["y"] - 20, "width": 1040, "height": bottom["y"] + bottom["height"] - top["y"] + 40}
            page.screenshot(path=FOLDER / f"{name}.png", full_page=True, clip=clip)
        browser.close()


if __name__ == "__main__":
    main()
