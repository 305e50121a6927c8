// Makes pages, which also work without this script, easier to use: copy buttons, drag and drop, and the state of the
// onboarding without a reload. All texts come from attributes of the page.
"use strict";

(() => {
  const live = document.getElementById("live");

  // Screen readers announce a text only if it changes, so the region is emptied first.
  const announce = (text) => {
    live.textContent = "";
    window.setTimeout(() => { live.textContent = text; }, 100);
  };

  const enableCopyButtons = (root) => {
    for (const button of root.querySelectorAll("button[data-copy]")) {
      button.hidden = !navigator.clipboard;
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(button.dataset.copy);
        } catch {
          return;
        }
        announce(button.dataset.copied);
        const content = [...button.childNodes];
        button.replaceChildren(button.dataset.copied);
        window.setTimeout(() => button.replaceChildren(...content), 2000);
      });
    }
  };

  const selectOnFocus = (root) => {
    for (const input of root.querySelectorAll("input[data-select]")) {
      input.addEventListener("focus", () => input.select());
    }
  };

  const enableUploads = (root) => {
    for (const form of root.querySelectorAll("form[data-upload]")) {
      const input = form.querySelector("input[type=file]");
      const zone = form.querySelector(".drop");
      const chosen = form.querySelector(".drop-chosen");
      const longest = Number(form.dataset.longest);

      const show = (text, isWrong) => {
        chosen.textContent = text;
        chosen.classList.toggle("drop-wrong", isWrong);
      };
      const showChoice = () => {
        const file = input.files[0];
        input.setCustomValidity("");
        if (!file) return show("", false);
        if (file.size > longest) {
          input.setCustomValidity(form.dataset.tooLarge);
          return show(form.dataset.tooLarge, true);
        }
        const size = Math.max(1, Math.round(file.size / 1024)).toLocaleString(document.documentElement.lang);
        // A function as replacement, because a file's name may contain "$&".
        show(form.dataset.chosen.replace("{name}", () => file.name).replace("{size}", () => size), false);
      };

      input.addEventListener("change", showChoice);
      for (const name of ["dragenter", "dragover"]) {
        zone.addEventListener(name, (event) => {
          event.preventDefault();
          zone.classList.add("drop-active");
        });
      }
      zone.addEventListener("dragleave", () => zone.classList.remove("drop-active"));
      zone.addEventListener("drop", (event) => {
        event.preventDefault();
        zone.classList.remove("drop-active");
        const files = event.dataTransfer.files;
        if (files.length > 1) return show(form.dataset.several, true);
        if (files.length === 1) {
          input.files = files;
          showChoice();
        }
      });
    }
  };

  // Asks for the onboarding document every 5 seconds, or less often after errors, and replaces the state on the page
  // after a change, unless a person is using that part of the page. Stops asking while the page is hidden, and after 10
  // minutes without input. The requests do not keep the session alive.
  const followState = (region) => {
    const interval = 5000;
    const idleLimit = 10 * 60 * 1000;
    let tag = region.dataset.liveTag || null;
    let delay = interval;
    let lastInput = Date.now();

    const isInUse = () => {
      const file = region.querySelector("input[type=file]");
      return region.contains(document.activeElement) || (file && file.files.length > 0);
    };

    // A notice is about the onboarding document before the change.
    const removeNotice = () => {
      const notice = document.querySelector("main > .alert-success");
      if (!notice) return;
      if (notice.contains(document.activeElement)) document.getElementById("main").focus({ preventScroll: true });
      notice.remove();
    };

    const refresh = async () => {
      const note = document.getElementById("live-note");
      removeNotice();
      if (isInUse()) {
        note.hidden = false;
        return announce(region.dataset.updatedLater);
      }
      const response = await fetch(region.dataset.livePage, { cache: "no-store" });
      if (!response.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const replacement = page.querySelector("[data-live=state]");
      if (!replacement || isInUse()) {
        note.hidden = false;
        return announce(region.dataset.updatedLater);
      }
      region.replaceChildren(...replacement.childNodes);
      enableAll(region);
      announce(region.dataset.updated);
    };

    const ask = async () => {
      if (document.hidden || Date.now() - lastInput > idleLimit) return;
      const headers = { Accept: "application/json" };
      if (tag) headers["If-None-Match"] = tag;
      const response = await fetch(region.dataset.liveUrl, { headers, cache: "no-store" });
      if (response.status === 401) {
        const note = document.getElementById("live-note");
        note.querySelector("p").textContent = region.dataset.ended;
        note.hidden = false;
        announce(region.dataset.ended);
        delay = 0;
        return;
      }
      if (response.status === 200) {
        const earlier = tag;
        tag = response.headers.get("ETag");
        if (earlier && tag !== earlier) await refresh();
      }
      delay = response.ok || response.status === 304 ? interval : Math.min(delay * 2, 60000);
    };

    const run = async () => {
      try {
        await ask();
      } catch {
        delay = Math.min(Math.max(delay, interval) * 2, 60000);
      }
      if (delay > 0) window.setTimeout(run, delay);
    };

    for (const name of ["keydown", "pointerdown", "pointermove", "scroll"]) {
      window.addEventListener(name, () => { lastInput = Date.now(); }, { passive: true });
    }
    // Without the page's tag, the first document is the one to compare with, so it is fetched at once.
    window.setTimeout(run, tag ? interval : 0);
  };

  const enableAll = (root) => {
    enableCopyButtons(root);
    selectOnFocus(root);
    enableUploads(root);
  };

  document.documentElement.classList.add("js");
  enableAll(document);
  const region = document.querySelector("[data-live-url]");
  if (region && region.dataset.liveUrl) followState(region);
  // The query names the notice. Without it, the notice does not appear again when the page is loaded again.
  if (location.search && document.querySelector("main > .alert-success")) {
    history.replaceState(null, "", location.pathname);
  }
})();
