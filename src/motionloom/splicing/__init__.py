"""Splicing, after Heck, Kovar & Gleicher 2006. An upper-body action on another locomotion."""
