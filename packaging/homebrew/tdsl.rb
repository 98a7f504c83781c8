# Homebrew, from a source archive (`python -m build --sdist`):
#   export HOMEBREW_TDSL_URL="file://$PWD/dist/tdsl-0.1.0.tar.gz" HOMEBREW_TDSL_SHA256="$(shasum -a 256 dist/tdsl-0.1.0.tar.gz | cut -d' ' -f1)"
#   brew install --formula packaging/homebrew/tdsl.rb
class Tdsl < Formula
  desc "Language and compiler for the networks of AI clusters"
  url ENV.fetch("HOMEBREW_TDSL_URL")
  version "0.1.0"
  sha256 ENV.fetch("HOMEBREW_TDSL_SHA256")
  license "Apache-2.0"

  depends_on "python@3.13"

  def install
    system "python3.13", "-m", "venv", libexec
    system libexec/"bin/pip", "install", "#{buildpath}[lsp,mcp]"
    bin.install_symlink libexec/"bin/tdsl"
    generate_completions_from_executable(bin/"tdsl", "completion", shells: [:bash, :zsh, :fish])
    (buildpath/"tdsl.1").write Utils.safe_popen_read(bin/"tdsl", "man")
    man1.install "tdsl.1"
  end

  test do
    system bin/"tdsl", "init", "first"
    assert_match "no errors", shell_output("#{bin}/tdsl check first.fab")
  end
end
