"""The audit: are results on real clips acceptable? An independent check decides."""
