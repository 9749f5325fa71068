// Progressive enhancement alone: every page works without this script.
"use strict";

// Parts of a page that refresh by themselves: <div id="..." data-live="seconds">.
const REFRESHES_FAILED_MAX = 30;
for (const part of document.querySelectorAll("[data-live]")) {
  let failed = 0;
  const timer = setInterval(async () => {
    if (document.hidden || part.contains(document.activeElement)) return;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById(part.id);
      if (answer.ok && fresh) { part.replaceChildren(...fresh.childNodes); failed = 0; }
    } catch (error) {
      failed += 1;
      if (failed >= REFRESHES_FAILED_MAX) clearInterval(timer);
    }
  }, 1000 * Number(part.dataset.live));
}

// Ctrl-Enter sends the form of a text area.
for (const area of document.querySelectorAll("[data-submit=ctrl-enter]")) {
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) area.form.requestSubmit();
  });
}

// The live tail of a topic: asks for records from where it has come to, once a second.
const TAIL_ROWS_MAX = 500;
const tail = document.getElementById("tail");
if (tail) {
  const rows = document.getElementById("records");
  const said = document.getElementById("records-said");
  let next = Number(tail.dataset.next);
  let timer = null;
  let following = false;

  const shown = (part) => part === null ? "null" : ("text" in part ? part.text : "base64 " + part.base64);
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const cell = (...content) => { const made = document.createElement("td"); made.append(...content); return made; };

  const row = (record) => {
    const made = element("tr", undefined, "new");
    const offset = element("th", String(record.offset), "number");
    offset.scope = "row";
    const time = cell(new Date(record.timestamp_ms).toISOString().replace("T", " "));
    time.className = "time";
    const value = cell();
    if (record.problem) value.append(element("span", "does not fit", "tag bad"), " ", record.problem);
    value.append(element("pre", record.decoded ? JSON.stringify(record.decoded, null, 2) : shown(record.value)));
    const bytes = cell(record.value === null ? "0 B" : record.value.bytes + " B");
    const place = cell(element("span", record.place.kind, "tag " + record.place.kind), " ",
                       element("small", record.place.name.split("/").pop()));
    made.append(offset, time, cell(element("code", shown(record.key))), value, bytes, place);
    setTimeout(() => made.classList.remove("new"), 3000);
    return made;
  };

  const look = async () => {
    try {
      const answer = await fetch(tail.dataset.tail + "&offset=" + next + "&limit=100");
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.error);
      next = found.next_offset;
      for (const record of found.records) rows.prepend(row(record));
      if (found.records.length) document.getElementById("no-records")?.remove();
      while (rows.children.length > TAIL_ROWS_MAX) rows.lastElementChild.remove();
      said.textContent = "Following the end, at offset " + next + ". Newest first.";
    } catch (error) {
      said.textContent = "The tail stopped: " + error.message;
      stop();
    }
  };
  const stop = () => { following = false; clearTimeout(timer); tail.setAttribute("aria-pressed", "false"); };
  const follow = async () => { await look(); if (following) timer = setTimeout(follow, 1000); };
  tail.addEventListener("click", () => {
    if (following) { stop(); return; }
    following = true;
    tail.setAttribute("aria-pressed", "true");
    follow();
  });
}
