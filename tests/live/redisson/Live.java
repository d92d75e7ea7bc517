/* Live.java - the real Redisson for test_live.py, with StringCodec: keys are the bytes of their UTF-8.
 *   init PORT NAME N P              tryInit; prints size and iterations
 *   add PORT NAME < keys            adds the keys (one a line), prints 1 (new) or 0 for each
 *   contains PORT NAME < keys       prints 1 or 0 for each
 *   delete PORT NAME */
import java.io.*;
import java.nio.charset.StandardCharsets;
import org.redisson.Redisson;
import org.redisson.api.*;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

public class Live {
    public static void main(String[] a) throws IOException {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + a[1]).setConnectionMinimumIdleSize(1).setConnectionPoolSize(2)
              .setSubscriptionConnectionMinimumIdleSize(1).setSubscriptionConnectionPoolSize(1);
        RedissonClient client = Redisson.create(config);
        RBloomFilter<String> filter = client.getBloomFilter(a[2], StringCodec.INSTANCE);
        if (a[0].equals("init")) {
            filter.tryInit(Long.parseLong(a[3]), Double.parseDouble(a[4]));
            System.out.println(filter.getSize() + " " + filter.getHashIterations());
        } else if (a[0].equals("delete")) {
            filter.delete();
        } else {
            BufferedReader keys = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            StringBuilder answers = new StringBuilder();
            for (String line; (line = keys.readLine()) != null;)
                answers.append((a[0].equals("add") ? filter.add(line) : filter.contains(line)) ? '1' : '0');
            System.out.println(answers);
        }
        client.shutdown();
    }
}
