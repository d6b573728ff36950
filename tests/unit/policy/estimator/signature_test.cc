#include "policy/estimator/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace plimsoll::policy {
namespace {

struct Case {
  Command command;
  std::string tool;
  std::string exact;
};

using Argv = std::vector<std::string>;

TEST(Signature, OfCommandsAsPeopleWriteThem) {
  const Case cases[] = {
      {"gcc -O2 -g -Iinclude -DNDEBUG -Wall -c src/a.c -o build/a.o", "gcc -c",
       "gcc -c *.c -O2 -g"},
      {"/usr/bin/x86_64-linux-gnu-g++-12 -O2 -std=c++20 -MD -MF x.d -c a.cc -o a.o", "g++ -c",
       "g++ -c *.cc -O2 -std=c++20"},
      {"g++ -flto -o prog a.o b.o -lz", "g++ link", "g++ link *.o -flto -lz"},
      {"ccache clang++ -c x.cpp", "clang++ -c", "clang++ -c *.cpp"},
      {"xz -9 -T0 big.tar", "xz", "xz *.tar -9 -T0"},
      {"xz -1 big.tar", "xz", "xz *.tar -1"},
      {"samtools sort -@ 4 -m 1G -o out.bam in.bam", "samtools sort", "samtools sort *.bam -@ -m"},
      {"git -C /srv/repo clone --depth=1 https://example.org/x.git", "git clone",
       "git clone *.git --depth"},
      {"cargo build --release --jobs 4", "cargo build", "cargo build --release"},
      {"env LC_ALL=C OMP_NUM_THREADS=4 nice -n 10 timeout -k 5 60 ./solve --grid 512 data/x17.dat",
       "solve", "solve *.dat --grid"},
      {"time -f %e -o /tmp/t sort -u words.txt", "sort", "sort *.txt -u"},
      {"/usr/bin/python3.11 -u tools/train.py --epochs 20 --model resnet", "python train.py",
       "python train.py --epochs --model resnet"},
      {"python -m pytest tests/", "python pytest", "python pytest"},
      {"java -Xmx8g -cp lib/x.jar -jar /opt/picard.jar MarkDuplicates INPUT=a.bam",
       "java picard.jar", "java picard.jar *.bam -Xmx8g MarkDuplicates"},
      {"sh -c 'cd /tmp && exec bwa mem -t 8 ref.fa r1.fq.gz | gzip > out.gz'", "bwa mem",
       "bwa mem *.fa *.gz -t"},
      {"bash scripts/run.sh 17", "bash run.sh", "bash run.sh"},
      {"plimsoll run --memory-max 2G -- make -j8 all", "make", "make all"},
      {"A=1 B=2 cmd", "cmd", "cmd"},
      {"> log.txt cmd < in.csv", "cmd", "cmd"},
      {Argv{"sudo", "-u", "build", "stdbuf", "-oL", "awk", "{ print $1 }", "x.csv"}, "awk",
       "awk *.csv"},
      {Argv{"sh", "-ec", "gzip -9 a.tar"}, "gzip", "gzip *.tar -9"},
  };
  for (const Case& one : cases) {
    const Key key = key_of(one.command);
    EXPECT_EQ(key.tool, one.tool) << command_line(one.command);
    EXPECT_EQ(key.exact, one.exact) << command_line(one.command);
  }
}

TEST(Signature, IsTheSameForJobsThatDifferByFilesAndNumbersAlone) {
  EXPECT_EQ(key_of("convert -resize 800x600 in/001.png out/001.jpg"),
            key_of("convert -resize 640x480 in/002.png out/002.jpg"));
  EXPECT_EQ(key_of("g++ -c -O2 a.cc -o a.o"), key_of("g++ -O2 -o dir/b.o -c dir/b.cc"));
  EXPECT_NE(key_of("g++ -c -O2 a.cc -o a.o").exact, key_of("g++ -c -O0 a.cc -o a.o").exact);
  EXPECT_NE(key_of("g++ -c a.cc").tool, key_of("g++ a.o").tool);
}

TEST(Signature, AClassTakesThePlaceOfTheSignature) {
  JobSpec job;
  job.command = "gcc -c a.c";
  job.job_class = "small";
  EXPECT_EQ(key_of(job).exact, "small");
  EXPECT_EQ(key_of(job).tool, "gcc -c");
}

TEST(Signature, WhatMakesNoSenseHasAKeyAllTheSame) {
  for (const char* text :
       {"", " ", ";;", "'", "\\", "env", "nice -n", "timeout", "sh -c", "sh -c ''", "X=1", "python",
        "java -jar", "&& ||", "plimsoll", "((", "a\n\nb"}) {
    const Key key = key_of(std::string(text));
    EXPECT_LE(key.exact.size(), 240U) << text;
  }
  EXPECT_EQ(key_of("env"), (Key{"env", "env"}));
  EXPECT_EQ(key_of(""), (Key{"", ""}));
  EXPECT_EQ(key_of(Argv{}), (Key{"", ""}));
  EXPECT_LE(key_of("x " + std::string(10'000, 'a')).exact.size(), 240U);
}

TEST(Signature, ShellsInShellsEnd) {
  std::string text = "true";
  for (int i = 0; i < 40; ++i) text = "sh -c \"" + text + "\"";
  EXPECT_FALSE(key_of(text).tool.empty());
}

// The longest are told apart by their last words, too, and their kind by the first.
TEST(Signature, LongCommandsAreToldApart) {
  std::vector<std::string> words(20'000, "a.o");
  words.front() = "ld";
  JobSpec one, same, other;
  one.command = same.command = words;
  words.back() = "b.o";
  other.command = words;
  EXPECT_EQ(key_of(one, "/").command, key_of(same, "/").command);
  EXPECT_NE(key_of(one, "/").command, key_of(other, "/").command);
  EXPECT_EQ(key_of(one, "/").exact, key_of(other, "/").exact);
  EXPECT_EQ(key_of(one, "/").exact, "ld *.o");
}

}  // namespace
}  // namespace plimsoll::policy
