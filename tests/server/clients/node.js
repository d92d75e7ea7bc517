// What test_resp_clients.py expects, by node-redis.  NODE_PATH has the package; the argument is the port.
const { createClient } = require("redis");

async function main(port, RESP) {
    const client = await createClient({ url: `redis://127.0.0.1:${port}`, RESP }).connect();
    const many = Array.from({ length: 500 }, (_, i) => client.bf.add("pipe", `${i}`));
    const told = [
        await client.bf.reserve("users", 0.001, 1000),
        await client.bf.add("users", "a"),
        await client.bf.add("users", "a"),
        await client.bf.mAdd("users", ["b", "c", "a"]),
        await client.bf.exists("users", "z"),
        await client.bf.card("users"),
        (await Promise.all(many)).filter((one) => one).length >= 490,
        await client.bf.info("none").catch((error) => error.message),
    ];
    await client.del(["users", "pipe"]);
    await client.close();
    console.log(JSON.stringify(told, (_, one) => (typeof one == "boolean" ? +one : one)));
}
main(process.argv[2], 2).then(() => main(process.argv[2], 3));
