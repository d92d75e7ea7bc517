"""The client objects of the catalogue, by name: a client of the real Redis at a port, and what is
none or fails.

    sound       as one has it                     raises      fails at everything it is asked to
    send, with "no way"
    nobody      of a port where nothing listens   turns       the same, once a filter was made with
    it
    pipelining  in a pipeline                     object      no client at all

side.php has the same ones; C has no client of its own."""


def refusing(redis):
    class Pool(redis.ConnectionPool):
        refuses = False

        def get_connection(self, *args, **kwargs):
            if self.refuses:
                raise RuntimeError("no way")
            return super().get_connection(*args, **kwargs)

    return Pool


def make(text):
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    name, port = text.split()
    if name == "object":
        return object()
    client = redis.Redis(
        connection_pool=refusing(redis)(
            host="127.0.0.1", port=int(port), retry=Retry(NoBackoff(), 0)
        )
    )
    client.connection_pool.refuses = name == "raises"
    client.turns = name == "turns"
    return client.pipeline() if name == "pipelining" else client


def turn(client):
    if getattr(client, "turns", False):
        client.connection_pool.refuses = True
