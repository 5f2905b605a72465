"""Readers of what runs leave on disk. Each module is a command: `python -m simpler_setup.tools.<name>`."""
