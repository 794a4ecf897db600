"""Robots: MuJoCo models, joint positions in CSV and npz files."""
