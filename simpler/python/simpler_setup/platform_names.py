"""Platform strings."""

from __future__ import annotations

PLATFORMS = ("a2a3", "a2a3sim", "a5", "a5sim")


def parse_platform(platform: str) -> tuple[str, str]:
    """ "a2a3sim" -> ("a2a3", "sim"); without suffix the variant is "onboard"."""
    if platform not in PLATFORMS:
        raise ValueError(f"platform {platform!r} is none of {', '.join(PLATFORMS)}")
    return (
        (platform.removesuffix("sim"), "sim") if platform.endswith("sim") else (platform, "onboard")
    )
