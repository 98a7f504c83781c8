"""Records for one kind of target each: adapters, routers, subnets, hosts."""
