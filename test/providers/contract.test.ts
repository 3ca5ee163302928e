import { providerContract } from '../contracts/provider.ts';
import { HTTP_DIALECTS, httpRig, scriptedRig } from './rigs.ts';

for (const dialect of HTTP_DIALECTS) providerContract(dialect, () => httpRig(dialect));
providerContract('scripted', scriptedRig);
