// Fills the page with its text and table: without a script there is nothing to read.
const rows = [
  ["Reference to the first-level cache", 0.5],
  ["Mispredicted branch", 5],
  ["Reference to the second-level cache", 7],
  ["Locking and unlocking a mutex", 25],
  ["Reference to main memory", 100],
  ["Sending 1 KB over a 1 Gbit/s network", 10_000],
  ["Reading 4 KB at random from an SSD", 150_000],
  ["Reading 1 MB in sequence from memory", 250_000],
  ["Round trip within a data centre", 500_000],
  ["Reading 1 MB in sequence from an SSD", 1_000_000],
  ["Seek of a hard disk", 10_000_000],
  ["Reading 1 MB in sequence from a hard disk", 20_000_000],
  ["Packet from California to the Netherlands and back", 150_000_000],
];

const paragraphs = [
  "Jeff Dean of Google made a list of latencies popular in talks around 2009 under the title 'Numbers Everyone Should Know'. Peter Norvig had published a similar table in his essay on learning to program. The values are orders of magnitude from about 2012; processors and disks have changed since, and their ratios have changed less than one might think.",
  "Memory is about two hundred times slower than the first-level cache. A round trip within a data centre takes as long as five thousand references to main memory. A round trip across the Atlantic and back from California takes 150 milliseconds, three hundred times as long as one within a data centre, and no technology will make it much shorter: light in optical fibre travels about 200,000 kilometres per second.",
  "Three lessons follow. Keep data that is used together close together, since a cache line or a page is fetched as a whole. Batch requests, since a round trip costs the same for one item as for a hundred. And count the round trips between regions first when a design is to be fast, because everything else is small beside them.",
  "Solid-state drives have moved most since the list was made. A modern NVMe drive answers a random read within 20 to 100 microseconds and reads a megabyte in sequence in about 0.2 to 0.3 milliseconds. A hard disk still needs about 10 milliseconds for a seek, as it did twenty years ago, since its arm and its platters are mechanical.",
];

function duration(ns) {
  if (ns >= 1e6) return `${ns / 1e6} milliseconds`;
  if (ns >= 1e3) return `${ns / 1e3} microseconds`;
  return `${ns} nanoseconds`;
}

function element(tag, text) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  return node;
}

function draw() {
  const article = element("article");
  article.append(element("h1", "Latency numbers every programmer should know"));
  article.append(element("p", paragraphs[0]));
  const table = element("table");
  for (const [what, ns] of rows) {
    const row = element("tr");
    row.append(element("td", what), element("td", duration(ns)));
    table.append(row);
  }
  article.append(table);
  for (const paragraph of paragraphs.slice(1)) article.append(element("p", paragraph));
  document.getElementById("app").append(article);
}

draw();
