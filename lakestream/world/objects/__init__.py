"""Object stores: memory, files, S3, Google Cloud Storage, Azure. One small interface over all."""
