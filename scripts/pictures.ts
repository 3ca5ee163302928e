/**
 * Takes the pictures of docs/pictures: the main states of the browser UI in light and dark, on a screen and on a phone, of a
 * real server with a made-up model. `npm run pictures` takes them anew; look at each before you commit it.
 */
import { takeCut, takeList, takePlanMode, takeSettings } from './pictures/more-scenes.ts';
import { takeAsking, takeBeginning, takeConversation, takeLog, takeQueue } from './pictures/scenes.ts';
import { createWorld } from './pictures/world.ts';

await using world = await createWorld();
const page = await world.window();
const phone = await world.phone();
const scene = { world, page, phone };

await takeBeginning(scene);
await takeAsking(scene);
await takeConversation(scene);
await takeLog(scene);
await takeQueue(scene);
await takePlanMode(scene);
await takeSettings(scene);
await takeCut(scene);
await takeList(scene);
