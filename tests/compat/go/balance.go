package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/balancer/weightedroundrobin"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	pb "mpsd.test/infer/inference"
)

const (
	callers = 8
	// A round of calls ends when one server has answered so many of them.
	roundCalls = 500
	policy     = `{"loadBalancingConfig": [{"weighted_round_robin": {"enableOobLoadReport": %t,
		"oobReportingPeriod": "1s", "blackoutPeriod": "1s", "weightUpdatePeriod": "1s"}}]}`
)

// connect makes a channel to all servers, which shares its calls by their load reports.
func connect(addresses []string, outOfBand bool) (*grpc.ClientConn, error) {
	all := manual.NewBuilderWithScheme("test")
	state := resolver.State{}
	for _, address := range addresses {
		state.Endpoints = append(state.Endpoints,
			resolver.Endpoint{Addresses: []resolver.Address{{Addr: address}}})
	}
	all.InitialState(state)
	return grpc.NewClient("test:///servers", grpc.WithResolvers(all),
		grpc.WithDefaultServiceConfig(fmt.Sprintf(policy, outOfBand)),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// round makes calls until it is over, and says how many of them each server has answered.
func round(ctx context.Context, client pb.GRPCInferenceServiceClient, model string) (map[string]int, error) {
	var mu sync.Mutex
	answered := map[string]int{}
	var failure error
	isOver := false
	call := func() bool {
		var from peer.Peer
		_, err := client.ModelInfer(ctx, request(model, "", []float32{1, 2, 3, 4}), grpc.Peer(&from))
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failure = err
		} else if !isOver {
			answered[from.Addr.String()]++
			isOver = answered[from.Addr.String()] == roundCalls
		}
		return err == nil && !isOver
	}
	var all sync.WaitGroup
	for i := 0; i < callers; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for call() {
			}
		}()
	}
	all.Wait()
	return answered, failure
}

// balance prints how many calls each server answers once their first reports are there.
func balance(addresses, model, reports string) error {
	connection, err := connect(strings.Split(addresses, ","), reports == "out-of-band")
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 4*timeLimit)
	defer cancel()
	if reports == "beside-answers" { // the policy reads such reports, and asks for none
		ctx = metadata.AppendToOutgoingContext(ctx, "endpoint-load-metrics-format", "BIN")
	}
	client := pb.NewGRPCInferenceServiceClient(connection)
	if _, err := round(ctx, client, model); err != nil {
		return err
	}
	answered, err := round(ctx, client, model)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(answered)
}
