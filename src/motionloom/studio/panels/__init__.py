"""What each tab of the studio computes."""
