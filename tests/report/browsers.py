"""Find a browser for the tests of pages."""

import os
import shutil

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
NONE_FOUND = "No Chromium, Chrome or Edge was found, so the pages were not opened: install one."


def find_browser():
    """Return the path of the first browser found under its usual names, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def may_skip():
    """Return whether tests without a browser are skipped; continuous integration never does."""
    return os.environ.get("CI", "").lower() not in ("1", "true")
