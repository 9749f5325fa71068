"""What may go: records past retention, segments nobody refers to, objects nobody knows."""
