mod debian/bloomfilter.ini
