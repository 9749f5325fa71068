"""Where the faces of the gateway are mounted."""

CATALOG_PATH = "/iceberg"
REGISTRY_PATH = "/registry"
CONSOLE_PATH = "/console"
LOGIN_PATH = f"{CONSOLE_PATH}/login"
