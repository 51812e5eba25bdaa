import { startSqs } from '../../../../local/emulators/sqs.ts';
import { servePart } from './serve-part.ts';

/** The queue's emulator, alone in its process. */
const emulator = await startSqs({ dataDir: process.env['DATA_DIR'] ?? '' });
servePart(emulator.port, emulator.stop);
