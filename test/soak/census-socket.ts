/** The environment variable that tells the census taker where it is asked. */
export const CENSUS_SOCKET = 'CENSUS_SOCKET';
