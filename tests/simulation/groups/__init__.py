"""Groups whose coordinators die, sleep and wake: members that go from broker to broker, and who watches the store."""
