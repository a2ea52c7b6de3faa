"""Addresses as they may be shown: without what lets somebody in."""

from __future__ import annotations

import re

# Up to the last @ before the host: a password that was not written as an address wants it may hold one itself.
_WEB = re.compile(r"(?i)\b(https?://)[^/\s?#'\"]*@")
_OTHER = re.compile(r"((?:^|//)[^/\s:@'\"]*):[^/\s'\"]*@")
_PARAMETER = re.compile(r"(?i)([?&](?:password|passwd|pwd|token|access_token|api_key)=)[^&\s'\"#]*")


def without_password(words: str) -> str:
    """An address, or a message that quotes some, without passwords: what every message, page and log may show.

    A web address loses name and password, so that it stays a link; any other keeps the name: `postgresql://ada:***@db`.
    """
    return _PARAMETER.sub(r"\1***", _OTHER.sub(r"\1:***@", _WEB.sub(r"\1", words)))
