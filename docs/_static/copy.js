// A button on every program copies it: without prompts, and without what it printed.
"use strict";

function program(text) {
  const lines = text.split("\n");
  if (lines.some((line) => line.startsWith(">>> ")))
    return lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line)).map((line) => line.slice(4)).join("\n") + "\n";
  if (lines.some((line) => line.startsWith("$ ")))
    return lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2)).join("\n") + "\n";
  return text;
}

// A page that is opened as a file may not have the clipboard of newer browsers.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

document.addEventListener("DOMContentLoaded", () => {
  for (const pre of document.querySelectorAll(".bd-article div.highlight > pre")) {
    if (pre.closest(".sphx-glr-script-out")) continue; // what an example printed
    const button = document.createElement("button");
    button.className = "copy-program";
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the program");
    button.addEventListener("click", async () => {
      button.textContent = (await copied(program(pre.textContent))) ? "Copied" : "Not copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    pre.parentElement.append(button);
  }
});
