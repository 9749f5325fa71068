"""What CREATE TABLE, INSERT and ALTER TABLE mean for topics."""
