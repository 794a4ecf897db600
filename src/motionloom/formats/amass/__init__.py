"""AMASS archives of SMPL poses."""
