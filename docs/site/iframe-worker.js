// Search where the folder is opened from the disk: there a browser starts no worker, and a hidden frame stands in for it.
// The theme would load such a script from another host. It looks for IFrameWorker and for "iframe-worker" in this name.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = (this.inside = frame.contentWindow);
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = async (...urls) => {
        for (const each of urls) await this.run(each);
      };
      this.ready = this.run(url);
    }

    run(url) {
      return new Promise((done) => {
        const script = this.inside.document.createElement("script");
        script.onload = done;
        script.src = url;
        this.inside.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
