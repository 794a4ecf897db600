"""Checks: what makes an animator reject a motion, measured joint by joint."""
