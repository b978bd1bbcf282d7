"""Which version is this? Part of every job's identity: another version may measure otherwise."""

VERSION = "0.1.0"
