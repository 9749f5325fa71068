"""Where the faces of the gateway are mounted."""

CATALOG_PATH = "/iceberg"
REGISTRY_PATH = "/registry"
