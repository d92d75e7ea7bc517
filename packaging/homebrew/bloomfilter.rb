# The C library and bloomfilterd.  scripts/release writes the version here, and the address and sum of
# the archive into out/release/bloomfilter.rb.
class Bloomfilter < Formula
  desc "Bloom filters in memory, in shared files and in Redis, for C, PHP and Python"
  homepage "https://bloomfilter.invalid/"
  version "1.0.0-rc1"
  url "https://bloomfilter.invalid/releases/bloomfilter-#{version}.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "pkgconf" => :build
  depends_on "xxhash" => :build
  depends_on "libsodium"
  depends_on :linux
  depends_on "llhttp"
  depends_on "openssl@3"

  def install
    system "cmake", "-S", ".", "-B", "build", "-DBLOOMFILTER_SODIUM=ON", "-DBLOOMFILTER_TLS=ON",
                    "-DBLOOMFILTER_SERVER=ON", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pkgshare.install "examples/embed.c"
  end

  test do
    system ENV.cc, pkgshare/"embed.c", "-I#{include}", "-L#{lib}", "-lbloomfilter", "-o", "embed"
    assert_match "of 3 urls 2 were new", shell_output("./embed seen.bloom")
    assert_match version.to_s, shell_output("#{bin}/bloomfilterd --version")
  end
end
