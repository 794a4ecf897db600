"""Room 2: splicing, Heck, Kovar & Gleicher 2006. An upper-body action on another locomotion."""
