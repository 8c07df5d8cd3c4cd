# The part of Homebrew that the formula uses, on a host without it: the same words, which note what
# was said. `ruby formula_stub.rb FORMULA SOURCE WHEEL PREFIX` prints all of it as JSON.
#
# `install` runs: files move and cmake configures. To build takes minutes, so cmake is asked for
# what it would do; to install then has nothing to install, and is noted.
require "fileutils"
require "json"
require "pathname"

FORMULA, SOURCE, WHEEL, PREFIX = ARGV.map { |path| Pathname.new(path) }
HOMEBREW_PREFIX = PREFIX

class Pathname
  def install(*paths)
    mkpath
    paths.each { |path| FileUtils.mv(path, self) }
  end
end

# What stands between `do` and `end` of a resource or a service.
class Block
  attr_reader :said

  def initialize(formula, &block)
    @formula = formula
    @said = {}
    instance_eval(&block)
  end

  def stage
    Dir.chdir(WHEEL) { yield }
  end

  %i[url sha256 run keep_alive process_type working_dir log_path error_log_path].each do |word|
    define_method(word) { |value| @said[word] = value }
  end

  %i[opt_bin etc var].each { |folder| define_method(folder) { @formula.new.public_send(folder) } }
end

class Formula
  class << self
    def said
      @said ||= { depends_on: [], resources: {}, commands: [] }
    end

    %i[desc homepage url sha256 license version].each do |word|
      define_method(word) { |value| said[word] = value }
    end

    def depends_on(what)
      said[:depends_on] << (what.is_a?(Hash) ? what.first.map(&:to_s) : [what])
    end

    def resource(name, &block)
      said[:resources][name] = Block.new(self, &block)
    end

    def service(&block)
      said[:service] = Block.new(self, &block).said
    end

    def test(&block)
      said[:test] = !block.nil?
    end
  end

  def resource(name)
    self.class.said[:resources].fetch(name)
  end

  def buildpath
    SOURCE
  end

  def etc
    PREFIX/"etc"
  end

  def var
    PREFIX/"var"
  end

  def opt_bin
    PREFIX/"opt/mpsd/bin"
  end

  def std_cmake_args
    %W[-DCMAKE_INSTALL_PREFIX=#{PREFIX} -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF]
  end

  def system(*words)
    self.class.said[:commands] << words.map(&:to_s)
    return if words[1] == "--install"

    words += %w[-- -n] if words[1] == "--build"
    output = IO.popen(words.map(&:to_s), err: %i[child out], &:read)
    self.class.said[:output] = self.class.said[:output].to_s + output
    raise "#{words.first(2).join(" ")}: #{output}" unless $?.success?
  end
end

load FORMULA.to_s
Dir.chdir(SOURCE) { Mpsd.new.install }
said = Mpsd.said
said[:resources] = said[:resources].transform_values(&:said)
puts JSON.generate(said)
