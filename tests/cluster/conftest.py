"""Three nodes of PostgreSQL, etcd and Patroni: the quick tests install none of them."""

TIER = "outside"
