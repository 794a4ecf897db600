"""What tests of several folders share: captured clips, small tables, scores of plants."""
