// Clicks, keys and levels.
const canvas = document.getElementById("canvas"), out = {};
const heading = () => document.querySelector("#selection h2")?.textContent ?? "";
const fire = (name, x, y) => canvas.dispatchEvent(new (name === "dblclick" ? MouseEvent : PointerEvent)(name, {
  clientX: x + canvas.getBoundingClientRect().x, clientY: y + canvas.getBoundingClientRect().y, pointerId: 1,
  bubbles: true }));
canvas.setPointerCapture = () => {};
const screen = (x, y) => [x * app.drawing.view.k + app.drawing.view.x, y * app.drawing.view.k + app.drawing.view.y];
const click = (x, y) => { fire("pointerdown", ...screen(x, y)); fire("pointerup", ...screen(x, y)); };
const press = (key, on = canvas) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const box = (name) => app.scene.boxes.find((b) => b.set.name === name);
const spine = box("spine");
click(spine.x + 15, spine.y + 15);
out.box = heading();
const [x, y, w, h] = app.drawing.cellRect(spine, 1);
click(x + w / 2, y + h / 2);
out.cell = heading();
press("Escape");
out.cleared = heading();
out.crumbs = [document.getElementById("crumbs").textContent];
const frame = app.scene.frames[0];
fire("dblclick", ...screen(frame.x + 20, frame.y + 10));
out.crumbs.push(document.getElementById("crumbs").textContent);
out.inside = app.scene.boxes.map((b) => [b.title, b.devices.length, !!b.outside]);
press("]");
out.crumbs.push(document.getElementById("crumbs").textContent);
press("Backspace");
out.crumbs.push(document.getElementById("crumbs").textContent);
press("ArrowRight");
out.stepped = heading();
press("Enter");
out.entered = location.hash;
app.openDevice(0);
out.device = [heading(), app.view];
out.bundles = (app.open({ names: [], at: 0 }), app.scene.bundles.map((b) => b.text));
out.colour = app.colour;
return out;
