"""Who asks over HTTP, and what is answered to those who may not."""
