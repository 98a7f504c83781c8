// What is open, found and marked.
const text = (id) => document.getElementById(id).textContent, query = document.getElementById("query"), out = {};
out.opened = [location.hash, document.querySelector("#selection h2").textContent, app.view, app.colour];
const find = (words) => {
  query.value = words;
  query.dispatchEvent(new Event("input"));
  const hits = [...document.querySelectorAll("#hits li")].map((x) => x.textContent);
  query.form.requestSubmit();
  return { hits, panel: text("selection") };
};
const all = ["su1-leaf2", "su0-node3:nic1", "172.17.0.3", "10.255.0.1", "fd00:255::2", "nowhere"];
for (const words of all) out[words] = find(words);
document.querySelector("#findings button").click();
const results = [...document.querySelectorAll("#findings .status")].map((e) => e.parentNode.textContent);
return { ...out, marked: [text("selection"), text("legend")], results };
