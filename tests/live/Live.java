/* Live.java - the real Guava for test_live.py.
 *   write FUNNEL N P FILE < keys    creates a filter, puts the keys (one a line), writeTo(FILE)
 *   read FUNNEL FILE < keys         readFrom(FILE), prints 1 or 0 for each key */
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;

public class Live {
    static <T> void run(String[] a, Funnel<T> funnel, Function<String, T> key) throws IOException {
        BufferedReader keys = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        if (a[0].equals("write")) {
            BloomFilter<T> filter = BloomFilter.create(funnel, Long.parseLong(a[2]), Double.parseDouble(a[3]));
            for (String line; (line = keys.readLine()) != null;) filter.put(key.apply(line));
            try (OutputStream out = new FileOutputStream(a[4])) { filter.writeTo(out); }
            return;
        }
        try (InputStream in = new FileInputStream(a[2])) {
            BloomFilter<T> filter = BloomFilter.readFrom(in, funnel);
            StringBuilder answers = new StringBuilder();
            for (String line; (line = keys.readLine()) != null;) answers.append(filter.mightContain(key.apply(line)) ? '1' : '0');
            System.out.println(answers);
        }
    }

    public static void main(String[] a) throws IOException {
        switch (a[1]) {
            case "bytes": run(a, Funnels.byteArrayFunnel(), s -> s.getBytes(StandardCharsets.UTF_8)); break;
            case "chars": run(a, Funnels.unencodedCharsFunnel(), s -> (CharSequence) s); break;
            case "long": run(a, Funnels.longFunnel(), Long::valueOf); break;
            case "int": run(a, Funnels.integerFunnel(), Integer::valueOf); break;
        }
    }
}
