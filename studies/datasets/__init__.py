"""What the check of a data set finds in captured clips with planted defects."""
