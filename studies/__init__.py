"""Experiments of the papers and our own; run by ``./study`` and ``./bench``."""

import warnings

# Studies count the results that fail their check; a line for each would hide the rest.
warnings.filterwarnings("ignore", message=r"The \w+ fails its quality check")
