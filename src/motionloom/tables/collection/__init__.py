"""Collections: folders of clips as rows on disk, with catalogue and labels."""
