// Command store keeps the blobs and action results of a Remote Execution farm in memory: the part of
// bb_storage that a worker, a scheduler and a client of one test need. Digests are SHA-256.
//
//	store SOCKET
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"

	remoteexecution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/bazelbuild/remote-apis/build/bazel/semver"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
)

const (
	chunkBytes   = 64 << 10
	messageBytes = 16 << 20
)

type store struct {
	remoteexecution.UnimplementedContentAddressableStorageServer
	remoteexecution.UnimplementedActionCacheServer
	remoteexecution.UnimplementedCapabilitiesServer
	bytestream.UnimplementedByteStreamServer

	lock    sync.RWMutex
	blobs   map[string][]byte
	results map[string]*remoteexecution.ActionResult
}

func key(digest *remoteexecution.Digest) string {
	return fmt.Sprintf("%s/%d", digest.GetHash(), digest.GetSizeBytes())
}

func (s *store) blob(key string) ([]byte, bool) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	data, found := s.blobs[key]
	return data, found
}

// keep stores data under its key, if that is what its digest says.
func (s *store) keep(key string, data []byte) error {
	sum := sha256.Sum256(data)
	if seen := fmt.Sprintf("%s/%d", hex.EncodeToString(sum[:]), len(data)); seen != key {
		return grpcstatus.Errorf(codes.InvalidArgument, "expected %s, got %s", key, seen)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.blobs[key] = data
	return nil
}

func (s *store) FindMissingBlobs(_ context.Context, in *remoteexecution.FindMissingBlobsRequest) (*remoteexecution.FindMissingBlobsResponse, error) {
	out := &remoteexecution.FindMissingBlobsResponse{}
	for _, digest := range in.BlobDigests {
		if _, found := s.blob(key(digest)); !found {
			out.MissingBlobDigests = append(out.MissingBlobDigests, digest)
		}
	}
	return out, nil
}

func (s *store) BatchUpdateBlobs(_ context.Context, in *remoteexecution.BatchUpdateBlobsRequest) (*remoteexecution.BatchUpdateBlobsResponse, error) {
	out := &remoteexecution.BatchUpdateBlobsResponse{}
	for _, request := range in.Requests {
		err := s.keep(key(request.Digest), request.Data)
		out.Responses = append(out.Responses, &remoteexecution.BatchUpdateBlobsResponse_Response{
			Digest: request.Digest,
			Status: grpcstatus.Convert(err).Proto(),
		})
	}
	return out, nil
}

func (s *store) BatchReadBlobs(_ context.Context, in *remoteexecution.BatchReadBlobsRequest) (*remoteexecution.BatchReadBlobsResponse, error) {
	out := &remoteexecution.BatchReadBlobsResponse{}
	for _, digest := range in.Digests {
		data, found := s.blob(key(digest))
		response := &remoteexecution.BatchReadBlobsResponse_Response{Digest: digest, Data: data}
		if !found {
			response.Status = &status.Status{Code: int32(codes.NotFound), Message: "no such blob"}
		}
		out.Responses = append(out.Responses, response)
	}
	return out, nil
}

// keyOf a resource name, whose last two words are hash and size.
func keyOf(resource string) string {
	words := strings.Split(resource, "/")
	for i := 0; i+2 < len(words); i++ {
		if words[i] == "blobs" {
			return words[i+1] + "/" + words[i+2]
		}
	}
	return ""
}

func (s *store) Read(in *bytestream.ReadRequest, out bytestream.ByteStream_ReadServer) error {
	data, found := s.blob(keyOf(in.ResourceName))
	if !found {
		return grpcstatus.Errorf(codes.NotFound, "no such blob: %s", in.ResourceName)
	}
	if in.ReadOffset < 0 || in.ReadOffset > int64(len(data)) {
		return grpcstatus.Errorf(codes.OutOfRange, "offset %d of %d bytes", in.ReadOffset, len(data))
	}
	data = data[in.ReadOffset:]
	if in.ReadLimit > 0 && in.ReadLimit < int64(len(data)) {
		data = data[:in.ReadLimit]
	}
	for len(data) > 0 {
		size := min(len(data), chunkBytes)
		if err := out.Send(&bytestream.ReadResponse{Data: data[:size]}); err != nil {
			return err
		}
		data = data[size:]
	}
	return nil
}

func (s *store) Write(stream bytestream.ByteStream_WriteServer) error {
	var name string
	var data []byte
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return grpcstatus.Error(codes.InvalidArgument, "the stream ended before finish_write")
		}
		if err != nil {
			return err
		}
		if in.ResourceName != "" {
			name = in.ResourceName
		}
		if in.WriteOffset != int64(len(data)) {
			return grpcstatus.Errorf(codes.InvalidArgument, "offset %d after %d bytes", in.WriteOffset, len(data))
		}
		data = append(data, in.Data...)
		if in.FinishWrite {
			break
		}
	}
	if err := s.keep(keyOf(name), data); err != nil {
		return err
	}
	return stream.SendAndClose(&bytestream.WriteResponse{CommittedSize: int64(len(data))})
}

func (s *store) GetActionResult(_ context.Context, in *remoteexecution.GetActionResultRequest) (*remoteexecution.ActionResult, error) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	result, found := s.results[in.InstanceName+":"+key(in.ActionDigest)]
	if !found {
		return nil, grpcstatus.Error(codes.NotFound, "no such result")
	}
	return result, nil
}

func (s *store) UpdateActionResult(_ context.Context, in *remoteexecution.UpdateActionResultRequest) (*remoteexecution.ActionResult, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.results[in.InstanceName+":"+key(in.ActionDigest)] = in.ActionResult
	return in.ActionResult, nil
}

func (s *store) GetCapabilities(context.Context, *remoteexecution.GetCapabilitiesRequest) (*remoteexecution.ServerCapabilities, error) {
	return &remoteexecution.ServerCapabilities{
		CacheCapabilities: &remoteexecution.CacheCapabilities{
			DigestFunctions:               []remoteexecution.DigestFunction_Value{remoteexecution.DigestFunction_SHA256},
			ActionCacheUpdateCapabilities: &remoteexecution.ActionCacheUpdateCapabilities{UpdateEnabled: true},
		},
		LowApiVersion:  &semver.SemVer{Major: 2},
		HighApiVersion: &semver.SemVer{Major: 2, Minor: 3},
	}, nil
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: store SOCKET, not " + strconv.Quote(strings.Join(os.Args, " ")))
	}
	listener, err := net.Listen("unix", os.Args[1])
	if err != nil {
		log.Fatal("store: ", err)
	}
	kept := &store{blobs: map[string][]byte{}, results: map[string]*remoteexecution.ActionResult{}}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(messageBytes))
	remoteexecution.RegisterContentAddressableStorageServer(server, kept)
	remoteexecution.RegisterActionCacheServer(server, kept)
	remoteexecution.RegisterCapabilitiesServer(server, kept)
	bytestream.RegisterByteStreamServer(server, kept)
	log.Fatal("store: ", server.Serve(listener))
}
