"""A hash of code and values: `walk` visits them, the other modules say what counts."""

from halfseen.fingerprint.walk import NoFingerprint, fingerprint

__all__ = ["NoFingerprint", "fingerprint"]
