"""Find a browser for the tests of pages; run as a script, install one where there is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "google-chrome-beta",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
    "/snap/bin/chromium",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
NONE_FOUND = (
    "No Chromium, Chrome or Edge was found and none could be installed by `playwright install"
    " chromium`, so the pages were not opened."
)
PATIENCE = 240  # seconds for installing one


def find_browser():
    """Return the first browser found under its usual names, else Playwright's own, or None."""
    there = next((path for name in NAMES if (path := shutil.which(name))), None)
    return there or installed_by_playwright()


def installed_by_playwright():
    """Return the Chromium that Playwright installed, or None."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def may_skip():
    """Return whether tests without a browser are skipped; continuous integration never does."""
    return os.environ.get("CI", "").lower() not in ("1", "true")


def install_browser():
    """Let Playwright install Chromium; return whether it could."""
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    try:
        return subprocess.run(command, capture_output=True, timeout=PATIENCE).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main():
    """Make sure that there is a browser; say in one line that there is none."""
    if find_browser() is None and not (install_browser() and installed_by_playwright()):
        print(NONE_FOUND)
        return 0 if may_skip() else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
