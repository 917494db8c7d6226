const process = globalThis.process;
export const { platform, arch, pid, version, versions, argv, execPath, env, cwd, hrtime, uptime, nextTick, exit, stdout, stderr } = process;
export default process;
