"""Three nodes of PostgreSQL that Patroni and etcd keep alive, on one machine: to try what survives, and to watch it."""
